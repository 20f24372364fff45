"""The pages of a crawl, and what is learned from them."""
