// Conversations of the pictures, written for this purpose: title, agent, project, model, days ago, requests.
const ROWS = [
  ["Move the map tiles to the new bucket", "codex", "atlas", "gpt-5", 0, 9],
  ["Why does the route planner skip ferries?", "claude-code", "atlas", "claude-opus-4-5", 1, 26],
  ["Round amounts the way the tax office does", "opencode", "ledger", "claude-sonnet-4-5", 1, 12],
  ["Explain the retry queue to a new colleague", "claude-code", "parcels", "claude-sonnet-4-5", 2, 8],
  ["Add a dry run to the invoice importer", "codex", "ledger", "gpt-5", 3, 18],
  ["The label printer drops the last line", "claude-code", "parcels", "claude-sonnet-4-5", 4, 14],
  ["Translate the onboarding mails", "gemini-cli", "atlas", "gemini-2.5-pro", 4, 6],
  ["Split the depot service in two", "claude-code", "parcels", "claude-opus-4-5", 7, 30],
  ["Make the import resumable", "codex", "ledger", "gpt-5", 8, 22],
  ["Flaky test: two scanners at one depot", "claude-code", "parcels", "claude-sonnet-4-5", 9, 11],
  ["Cache headers of the tile server", "opencode", "atlas", "claude-sonnet-4-5", 10, 9],
  ["Read-only mode for the archive", "claude-code", "ledger", "claude-sonnet-4-5", 11, 16],
  ["Replace the cron jobs by a queue", "claude-code", "parcels", "claude-opus-4-5", 14, 24],
  ["Contrast of the dark map style", "gemini-cli", "atlas", "gemini-2.5-pro", 15, 5],
  ["Bring the exchange rates up to date at night", "codex", "ledger", "gpt-5", 16, 13],
  ["Why is the nightly backup twice as large?", "claude-code", "parcels", "claude-sonnet-4-5", 17, 19],
  ["Upgrade to the new date library", "opencode", "atlas", "claude-sonnet-4-5", 18, 21],
  ["Find the slow query of the depot list", "claude-code", "parcels", "claude-opus-4-5", 21, 17],
  ["A test for leap seconds", "codex", "ledger", "gpt-5", 22, 7],
  ["Offline tiles for the drivers", "claude-code", "atlas", "claude-sonnet-4-5", 23, 20],
  ["Sign the webhooks", "claude-code", "parcels", "claude-sonnet-4-5", 24, 15],
  ["Sort the berths by depth", "codex", "atlas", "gpt-5", 25, 10],
  ["Remove the old rounding flag", "opencode", "ledger", "claude-sonnet-4-5", 28, 8],
];

/** The stories, newest first. */
export const STORIES = ROWS.map(([title, agent, project, model, daysAgo, requests], index) => ({
  id: `${agent}/7c0f2a4e-51d3-4b8e-9d10-0000000000${String(index).padStart(2, "0")}`,
  ...{ title, agent, project, model, daysAgo, requests },
}));

/** Memories of a person, and notes that agents want to keep. */
export const MEMORIES = [
  ["user", "The staging database is on port 50432. Never write to it."],
  ["user", "Commit messages say why, in one sentence."],
  ["user", "Amounts are integers in cents; round half to even."],
  ["agent", "The depot service owns the table movements; the ledger only reads it."],
  ["agent", "npm test -- --only scans runs the tests of the intake in four seconds."],
];
