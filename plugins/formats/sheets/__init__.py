"""Workbooks: `xlsx` (`workbook`, `number_format`); a `sheet` of any format as documents."""

__all__: list[str] = []
