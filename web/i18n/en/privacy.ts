export const en = {
  title: "Privacy",
  intro:
    "What this gateway stores about the people who use it, who can read it, and how it is erased. Print it for your records.",
  redactionOn: "Redaction is on: secrets that longhaul recognizes are replaced before anything is stored.",
  redactionOff:
    "Redaction is off: secrets in messages are stored as they were sent. Set “redact” in the configuration to turn it on.",
  providers: "Requests go to these providers and to no other party: {list}.",
  stored: "What is stored",
  storedWords:
    "Every message that an agent sends through the gateway and every reply, with times, models, token counts and cost; memories that people or agents wrote; names of people, digests of their tokens, budgets, and the log of administrative acts. Provider keys and tokens themselves are never stored.",
  leaves: "What leaves the gateway",
  leavesWords:
    "Requests, to the provider that the agent chose. Nothing else: no statistics, no update checks, no fonts or scripts of other hosts. Telemetry and alerts are sent only to addresses that an admin has configured, and contain no message content unless that is switched on.",
  readers: "Who can read it",
  readersWords:
    "Members see their own conversations, memories and figures and nobody else's. Admins see everything; exports and erasures by admins are recorded. Whoever can read the disk or the database of the store can read the conversations: encrypt the disk.",
  erased: "How it is erased",
  erasedWords:
    "A message, a conversation, a memory or a whole person can be erased, after a preview of what it covers. Erasing overwrites the content in the store, in the search index and in files, and removes summaries that may quote it. Retention rules erase by age. Backups made earlier keep their content until they are deleted.",
  secrets: "Secrets",
  secretsWords:
    "Where several people use the gateway, redaction is on unless an admin turns it off. It replaces keys, tokens and passwords that have a known form; it cannot recognize every secret.",
  proof: "Proof",
  proofWords:
    "Every administrative act is in an audit log whose entries are chained by digests, so that a removed or changed entry is noticed. Erasing a person issues a certificate that can later be compared with the store.",
  signature:
    "Responsible for this gateway: ______________________   Date: ______________   Signature: ______________________",
} as const;
