"""What an index holds, for a reader.

* looked at: `contents`, which are the JSON, too
* described once: `description`, `group_description`, `graph_layout`
* written: `terminal`, `page`
"""
