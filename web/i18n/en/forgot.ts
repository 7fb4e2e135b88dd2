export const en = {
  title: "My agent forgot something",
  hint: "Paste words that your agent no longer seems to know. You see whether the model still gets them, when and why they went out of its window, and can put them back for good. Nothing is ever deleted from the log.",
  words: "Words from the conversation",
  find: "Find them",
  nothing: "These words were not found",
  nothingHint:
    "Try fewer or other words. Conversations that never went through longhaul and were not imported are not here.",
  whole: "The model sees this as it was said.",
  wholeHint: "If the agent does not act on it, say it again or pin it: it is in the window of the next call.",
  pinned: "Pinned: it stays in the window for good.",
  shortened: "The model sees a shortened form.",
  gone: "This is not in the window any more.",
  went: "It went out {time}: {reason}, by {author}.",
  noEdit: "No edit took it out: it belongs to an earlier line, or the agent left it out of its own requests.",
  restore: "Put it back for good",
  restored: "It is back, and pinned: it stays in the window.",
  notRestored: "It is pinned, but does not fit into the window now. It returns as soon as there is room.",
  open: "Open it",
  imported:
    "This conversation was imported: its agent decides what it sends. Connect the agent to keep words in its window.",
} as const;
