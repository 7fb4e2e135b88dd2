import type { GatewayAddress } from "../../server/gateway/index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { getStorePath } from "../open-store.ts";
import { UsageError } from "../usage-error.ts";

const DEFAULT_URL = "http://127.0.0.1:4747";
const HEALTH_MS = 1_500;

/** The address that agents on this computer reach the gateway at: --url, otherwise that of the configuration. */
export async function findGatewayAddress(
  context: CliContext,
  options: CommonValues & { readonly url?: string },
): Promise<GatewayAddress> {
  const { isAnthropicReached, loadConfig, toOpenableHost } = await import(
    "../../server/gateway/config/index.ts"
  );
  const { cwd, home, env } = context;
  const store = getStorePath(context, options);
  const { config } = loadConfig({ cwd, home, env, store, flags: {} });
  const needsToken = config.tokens.length > 0 || config.team;
  if (options.url !== undefined) {
    const url = parseGatewayUrl(options.url);
    return { url, needsToken, isAnthropic: (await asksAnthropic(url)) ?? false };
  }
  if (config.port === 0 && config.publicUrl === undefined)
    throw new UsageError(
      "the configuration picks a free port (port 0); name the gateway's address with --url",
    );
  const url = config.publicUrl ?? `http://${toOpenableHost(config.host)}:${config.port}`;
  return { url, needsToken, isAnthropic: (await asksAnthropic(url)) ?? isAnthropicReached(config.upstreams) };
}

/** Whether a running gateway sends Messages requests to Anthropic; undefined if none answers, or only to a token. */
async function asksAnthropic(url: string): Promise<boolean | undefined> {
  const { isAnthropicReached } = await import("../../server/gateway/config/index.ts");
  try {
    const reply = await fetch(`${url}/api/v1/gateway`, {
      signal: AbortSignal.timeout(HEALTH_MS),
      redirect: "error",
    });
    const { upstreams } = (await reply.json()) as {
      readonly upstreams: Parameters<typeof isAnthropicReached>[0];
    };
    return isAnthropicReached(upstreams);
  } catch {
    return undefined;
  }
}

/** All addresses that may be in an agent's file; works without a store and with a damaged configuration. */
export async function listGatewayUrls(
  context: CliContext,
  options: CommonValues & { readonly url?: string },
): Promise<readonly string[]> {
  const named = options.url === undefined ? [] : [parseGatewayUrl(options.url)];
  const configured = await findGatewayAddress(context, options).then(
    ({ url }) => [url],
    () => [],
  );
  return [...new Set([...named, ...configured, DEFAULT_URL, DEFAULT_URL.replace("127.0.0.1", "localhost")])];
}

/** Whether a gateway answers at the address. */
export async function isGatewayUp(url: string): Promise<boolean> {
  try {
    const reply = await fetch(`${url}/healthz`, {
      signal: AbortSignal.timeout(HEALTH_MS),
      redirect: "error",
    });
    await reply.body?.cancel();
    return reply.ok;
  } catch {
    return false;
  }
}

function parseGatewayUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url && /^https?:$/.test(url.protocol) && url.pathname === "/" && !url.search && !url.username;
  if (!isPlain)
    throw new UsageError(`--url is ${JSON.stringify(text)}; expected an address such as ${DEFAULT_URL}`);
  return url.origin;
}
