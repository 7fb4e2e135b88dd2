import type { CliContext } from "../cli-context.ts";

/** The memory of a gateway; the sizes are known to the person who runs it. */
interface GatewayMemoryView {
  readonly level: string;
  readonly usedBytes?: number;
  readonly heapUsedBytes?: number;
  readonly rssBytes?: number;
  readonly cacheBytes?: number;
  readonly growthPerHour?: number;
}

/** The part of a running gateway's state that the live view shows. */
export interface GatewayView {
  readonly url: string;
  readonly threads: readonly {
    readonly session: string;
    readonly client?: string;
    readonly model?: string;
    readonly tokens: number;
    readonly window: number;
    readonly inFlight: number;
  }[];
  readonly memory: GatewayMemoryView;
  /** Sentences of the monitor, newest first. */
  readonly notices: readonly string[];
}

/** The fields of GET /api/v1/health that the live view shows. */
interface HealthReply {
  readonly notices?: readonly { readonly text: string }[];
  readonly process?: { readonly rssBytes: number; readonly heapBytes: number } | null;
  readonly memory?: {
    readonly level: string;
    readonly usedBytes: number;
    readonly cacheBytes: number;
    readonly growthPerHour: number;
  } | null;
}

/** A gateway that is not there refuses at once; one that is busy may take its time. */
const TIMEOUT_MS = 10_000;

/** Reads the state of the gateway at an address; undefined if none answers or it wants another token. */
export async function readGateway(url: string, context: CliContext): Promise<GatewayView | undefined> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const ask = (route: string) => readRoute(`${url}/api/v1${route}`, context.env.LONGHAUL_TOKEN, signal);
  try {
    const [gateway, health] = await Promise.all([ask("/gateway"), ask("/health")]);
    const { threads } = gateway as Partial<GatewayView>;
    if (!Array.isArray(threads)) return undefined;
    const { notices = [], memory, process } = health as HealthReply;
    return {
      url,
      threads,
      memory:
        memory && process
          ? { ...pickSizes(memory), heapUsedBytes: process.heapBytes, rssBytes: process.rssBytes }
          : { level: "normal" },
      notices: notices.map(({ text }) => text),
    };
  } catch {
    return undefined;
  }
}

function pickSizes({
  level,
  usedBytes,
  cacheBytes,
  growthPerHour,
}: NonNullable<HealthReply["memory"]>): GatewayMemoryView {
  return { level, usedBytes, cacheBytes, growthPerHour };
}

async function readRoute(url: string, token: string | undefined, signal: AbortSignal): Promise<object> {
  const reply = await fetch(url, {
    signal,
    redirect: "error",
    ...(token && { headers: { authorization: `Bearer ${token}` } }),
  });
  if (reply.ok) return (await reply.json()) as object;
  await reply.body?.cancel();
  throw new Error(`The gateway answered ${reply.status}.`);
}
