"""Memory of the process and of its failures: what it holds, and why there was too little.

Not its job: one record's memory, which the record has.
"""
