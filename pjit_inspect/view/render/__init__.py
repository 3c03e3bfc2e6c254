"""A document as text and as HTML. All escaping happens here."""
