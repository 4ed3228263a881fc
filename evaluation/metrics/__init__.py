"""What answers, rankings and confidences are worth, from 0 to 1.

* answers: `answers`; `priors`, which take no reading, to compare with
* rankings: `retrieval` of documents, `facts` of sentences
* confidence: `calibration`; how sure a figure is: `statistics`
"""
