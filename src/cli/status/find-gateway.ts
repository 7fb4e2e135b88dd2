/** Whether a gateway answers at an address. */
interface GatewayPresence {
  readonly url: string;
  readonly isRunning: boolean;
}

const DEFAULT_PORT = 4747;
const TIMEOUT_MS = 1_000;

/** Asks for the gateway at the address, else at the port that the environment or the default names. */
export async function findGateway(
  given: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<GatewayPresence> {
  const url = (given ?? `http://127.0.0.1:${env.LONGHAUL_PORT || DEFAULT_PORT}`).replace(/\/+$/, "");
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(`${url}/healthz`, { signal: limit });
    await response.body?.cancel();
    return { url, isRunning: response.ok };
  } catch {
    return { url, isRunning: false };
  }
}
