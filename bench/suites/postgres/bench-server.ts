import { startPostgres } from "../../../test/support/postgres/postgres-server.ts";

/** Runs `work` with the URL of a server that syncs every commit: LONGHAUL_TEST_POSTGRES, else one of our own. */
export async function withBenchServer<T>(work: (url: string) => Promise<T>): Promise<T> {
  const own = process.env.LONGHAUL_TEST_POSTGRES;
  if (own) return work(own);
  const server = await startPostgres({ fsync: true, settings: { max_wal_size: "4GB" } });
  const quit = () => process.kill(server.pid, "SIGQUIT");
  process.once("exit", quit);
  try {
    return await work(server.url);
  } finally {
    process.off("exit", quit);
    await server.stop();
  }
}

/** The URL of a schema. */
export function withSchema(url: string, schema: string, connections = 4): string {
  return `${url}${url.includes("?") ? "&" : "?"}schema=${schema}&max_connections=${connections}`;
}
