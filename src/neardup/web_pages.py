"""The text of web pages, and the templates of their hosts."""

from neardup.pipeline.crawl.templates import learn_templates
from neardup.text.extraction import Extraction
from neardup.text.host_templates import HostTemplates, Template
from neardup.text.html import visible_text

__all__ = [
    "Extraction",
    "HostTemplates",
    "Template",
    "learn_templates",
    "visible_text",
]
