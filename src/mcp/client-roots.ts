import { fileURLToPath } from "node:url";
import type { McpServer } from "@modelcontextprotocol/server";

const TIMEOUT_MS = 1_000;

/** The folders that a client of the 2025 protocol offers, asked for once and after each change. */
export class ClientRoots {
  readonly #server: McpServer;
  #known: Promise<readonly string[] | undefined> | undefined;

  constructor(server: McpServer) {
    this.#server = server;
    server.server.setNotificationHandler("notifications/roots/list_changed", () => {
      this.#known = undefined;
    });
  }

  /** Undefined if the client offers none, or does not answer. */
  list(): Promise<readonly string[] | undefined> {
    this.#known ??= this.#ask();
    return this.#known;
  }

  async #ask(): Promise<readonly string[] | undefined> {
    const { server } = this.#server;
    if (!server.getClientCapabilities()?.roots) return undefined;
    try {
      const { roots } = await server.listRoots(undefined, { timeout: TIMEOUT_MS });
      const folders = roots.flatMap(({ uri }) => (uri.startsWith("file:") ? [fileURLToPath(uri)] : []));
      return folders.length > 0 ? folders : undefined;
    } catch {
      return undefined;
    }
  }
}
