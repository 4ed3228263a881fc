"""Metrics of `answers` and of `retrieval`, from 0 to 1; `statistics` has their confidence intervals, and the calibration of confidence."""
