// A gateway over a database in its own process, on a given port; killed and started again by the cluster.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKernel } from "../../../src/kernel/index.ts";
import { loadConfig, openGateway } from "../../../src/server/gateway/index.ts";

const { store, upstream, port, parent } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly store: string;
  readonly upstream: string;
  readonly port: number;
  readonly parent: number;
};
const folder = mkdtempSync(join(tmpdir(), "longhaul-cluster-"));
const file = join(folder, "longhaul.json");
const apis = ["anthropic", "openai-chat", "openai-responses"];
const upstreams = [{ name: "scripted", baseUrl: upstream, apis, window: 16_000 }];
writeFileSync(file, JSON.stringify({ port, team: true, log: { level: "error" }, upstreams }), {
  mode: 0o600,
});
const { config } = loadConfig({ path: file, cwd: folder, env: {}, flags: {} });
rmSync(folder, { recursive: true, force: true });
const kernel = await openWhenReady();
await openGateway({ kernel, config: () => config, log: (line) => process.stderr.write(line), env: {} });
process.stdout.write("ready\n");
// The gateway must not outlive a killed parent.
setInterval(() => {
  if (process.ppid !== parent) process.exit();
}, 500).unref();

/** The database may be restarting at this moment. */
async function openWhenReady(): ReturnType<typeof openKernel> {
  for (let tries = 1; ; tries++) {
    try {
      return await openKernel({ store, embedder: null });
    } catch (error) {
      if (tries === 10) throw error;
    }
  }
}
