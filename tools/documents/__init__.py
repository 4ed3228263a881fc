"""Find files, parse each with the reader of its format, and return LangChain documents.

* found and read in parallel: `load` (also documents of LangChain's loaders), `files`, `worker_pool`
* the reader of each format: `readers`; a package adds one by an entry point of the group `ramify.readers`, named as the suffix:

      [project.entry-points."ramify.readers"]
      ".xyz" = "my_package:READER"  # a ramify.tools.documents.readers.FormatReader

* the core's own: `text` (with `wrapped_text`), `records` and `csv`
* the metadata that files contain: `properties`
* the results: `sections` under headings, with the positions of pages and anchors; the headers that passages carry: `table_context`
* tables in all formats: `tables`
* merging short documents and marking lists of contents: `tidy`
"""

__all__ = ["files", "load", "readers"]
