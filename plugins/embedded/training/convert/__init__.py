"""Make the data folders that training reads from the files of public releases.

python -m plugins.embedded.training.convert NAME FILE… --out DATA/NAME
"""
