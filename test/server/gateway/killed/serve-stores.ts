// Serves several stores from one process, each by its own gateway with the settings in its folder, and prints the gateways' URLs as a line of JSON.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openKernel } from "longhaul";
import { loadConfig, openGateway } from "longhaul/gateway";

const [upstream, ...paths] = process.argv.slice(2);
const upstreams = [{ name: "scripted", baseUrl: upstream, apis: ["anthropic"] }];
const urls = await Promise.all(
  paths.map(async (path) => {
    const file = join(path, "longhaul.json");
    if (!existsSync(file)) writeFileSync(file, JSON.stringify({ port: 0, upstreams }), { mode: 0o600 });
    const { config } = loadConfig({ path: file, cwd: path, env: {}, flags: {} });
    const kernel = await openKernel({ path, models: config.models, embedder: null });
    const gateway = await openGateway({
      kernel,
      folder: path,
      config: () => config,
      log: () => undefined,
      env: {},
    });
    return gateway.url;
  }),
);
process.stdout.write(`${JSON.stringify(urls)}\n`);
