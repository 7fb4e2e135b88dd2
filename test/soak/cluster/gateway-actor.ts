import { createServer } from "node:net";
import { type Actor, createProcessActor } from "./actor.ts";

/** A gateway of the cluster: it has the same address after each start. */
export interface GatewayActor extends Actor {
  readonly url: string;
}

/** Creates the actor of a gateway on a free port. */
export async function createGatewayActor(
  name: string,
  settings: { readonly store: string; readonly upstream: string },
): Promise<GatewayActor> {
  const port = await findFreePort();
  const script = new URL("./cluster-gateway.ts", import.meta.url);
  const actor = createProcessActor(name, script, { ...settings, port, parent: process.pid });
  return { ...actor, url: `http://127.0.0.1:${port}` };
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { readonly port: number };
      probe.close(() => resolve(port));
    });
  });
}
