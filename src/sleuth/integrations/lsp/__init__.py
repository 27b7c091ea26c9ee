"""The language server: the findings of the source engine in an editor, over the language server protocol."""
