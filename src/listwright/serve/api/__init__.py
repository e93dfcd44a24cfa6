"""The HTTP layer: routes, request bodies, API keys, limits and the schemas of answers.

`protocol` bounds connections and headers, `guard` checks every request before it reaches `routes` or `passages`,
`bodies` decodes what was sent, and `answers` describes what is sent back. Nothing here computes; handlers call the
`Service`.
"""
