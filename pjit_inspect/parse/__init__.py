"""Readers of foreign formats: HLO as text and as proto, records, compiler dumps, profiles."""
