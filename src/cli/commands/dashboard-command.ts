import { spawn } from "node:child_process";
import { defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { isOnPath } from "../connecting/find-agents.ts";
import { findGatewayAddress, isGatewayUp } from "../connecting/gateway-address.ts";
import { EXIT } from "../exit-code.ts";
import { toSafeJson } from "../terminal/escape.ts";
import { printTo } from "../terminal/printer.ts";

/** Opens the dashboard in the browser. */
export const dashboardCommand = defineCommand({
  name: "dashboard",
  summary: "open the dashboard in the browser",
  usage: ["dashboard [--url URL] [--no-open]"],
  about:
    "Opens the dashboard of the running gateway. If none runs at its address, this command runs one, as longhaul serve does, until you stop it. Without a browser on this computer, it prints the address.",
  options: {
    url: {
      type: "string",
      value: "URL",
      help: "address of the gateway (default: that of its configuration)",
    },
    "no-open": { type: "boolean", help: "print the address and open nothing" },
  },
  maxOperands: 0,
  examples: ["longhaul dashboard", "longhaul dashboard --no-open"],
  async run(context, { options }) {
    const { url } = await findGatewayAddress(context, options);
    const show = async (address: string) => {
      const isOpened = options["no-open"] !== true && (await openBrowser(context, `${address}/`));
      const words = isOpened ? `Opened ${address}/` : `The dashboard is at ${address}/`;
      const json = toSafeJson({ url: `${address}/`, isOpened });
      await printTo(context.stdout, options.json ? `${json}\n` : `${words}\n`);
    };
    if (options.url !== undefined || (await isGatewayUp(url))) {
      await show(url);
      return EXIT.fine;
    }
    const { serveGateway } = await import("../serving/serve-gateway.ts");
    const { url: _, "no-open": __, ...common } = options;
    return serveGateway(context, common, show);
  },
});

/** Programs that open an address, by system. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens an address in the person's browser; false if this computer has none. The address goes through no shell. */
async function openBrowser(context: CliContext, url: string): Promise<boolean> {
  const { env, platform } = context;
  const hasScreen = Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
  const linux = ["wslview", ...(hasScreen ? ["xdg-open"] : [])].find((program) => isOnPath(context, program));
  const [program, ...args] = env.BROWSER ? [env.BROWSER] : (OPENERS[platform] ?? (linux ? [linux] : []));
  if (program === undefined) return false;
  const child = spawn(program, [...args, url], { env: { ...env }, stdio: "ignore", detached: true });
  child.unref();
  return await new Promise<boolean>((resolve) => {
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
  });
}
