"""Workbooks: `xlsx` (`workbook`, `xlsx_sheet`, `number_format`); a `sheet` of any format as documents, and its `cell_names`."""

__all__: list[str] = []
