import type { CliContext } from "../cli-context.ts";

/** The memory of a gateway, as its status gives it. */
interface GatewayMemoryView {
  readonly level: string;
  readonly usedBytes?: number;
  readonly heapUsedBytes?: number;
  readonly rssBytes?: number;
  readonly cacheBytes?: number;
  readonly growthPerHour?: number;
}

/** The part of a running gateway's status that the live view shows. */
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

const TIMEOUT_MS = 2_000;

/** Reads the status of the gateway at an address; undefined if none answers or it wants another token. */
export async function readGateway(url: string, context: CliContext): Promise<GatewayView | undefined> {
  const token = context.env.LONGHAUL_TOKEN;
  try {
    const reply = await fetch(`${url}/api/status`, {
      signal: AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      redirect: "error",
      ...(token && { headers: { authorization: `Bearer ${token}` } }),
    });
    if (!reply.ok) {
      await reply.body?.cancel();
      return undefined;
    }
    const status = (await reply.json()) as Partial<GatewayView> & {
      readonly memory?: GatewayMemoryView & { readonly notices?: readonly { readonly text: string }[] };
    };
    if (!Array.isArray(status.threads)) return undefined;
    const { notices = [], ...memory } = status.memory ?? { level: "normal" };
    const { level, usedBytes, heapUsedBytes, rssBytes, cacheBytes, growthPerHour } =
      memory as GatewayMemoryView;
    return {
      url,
      threads: status.threads,
      memory: { level, ...definedOnly({ usedBytes, heapUsedBytes, rssBytes, cacheBytes, growthPerHour }) },
      notices: notices.map(({ text }) => text),
    };
  } catch {
    return undefined;
  }
}

function definedOnly(values: Readonly<Record<string, number | undefined>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Record<
    string,
    number
  >;
}
