"""Files of records and of compiler dumps, none of them trusted."""
