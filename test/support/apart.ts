/** Tests that run real agents, which `npm run test:clients` runs where `npm run clients` has installed them. */
export const REAL_CLIENTS = [
  "claude-code-features",
  "continued-clients",
  "hook-clients",
  "mcp-clients",
  "one-memory",
  "real-clients",
].map((name) => `test/cli/connecting/${name}.test.ts`);

/**
 * Tests that start processes, take much memory or measure their own process get their own process. All other files
 * share the modules of their worker: loading them again for each file takes longer than most tests.
 */
export const APART = [
  "test/*.test.ts",
  "test/kernel/*.test.ts",
  ...["cli", "crash", "examples", "leak", "processes", "repository", "security", "tasks"].map(
    (folder) => `test/${folder}/**/*.test.ts`,
  ),
  "test/server/gateway/hostile.test.ts",
  "test/server/gateway/reply/relay/upstream-faults.test.ts",
  "test/histories/fuzz.test.ts",
  "test/histories/reading/read-bytes.test.ts",
];
