"""Make the data folders that training reads from the files of public releases.

python -m training.convert NAME FILE… --out DATA/NAME
"""
