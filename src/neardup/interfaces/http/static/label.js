// The keys of the buttons; without scripts, the buttons remain.
addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
  for (const button of document.querySelectorAll("button[data-key]"))
    if (button.dataset.key === event.key.toLowerCase() && !button.disabled) {
      event.preventDefault();
      button.click();
    }
});
// One answer for each page: a second key before the next page is there must not count.
addEventListener("submit", (event) => {
  if (document.body.dataset.sent) event.preventDefault();
  document.body.dataset.sent = "yes";
});
addEventListener("pageshow", () => delete document.body.dataset.sent);
