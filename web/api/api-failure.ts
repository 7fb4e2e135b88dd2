/** A failed request to the API. The message tells the failure, the remedy what to do about it. */
export class ApiFailure extends Error {
  /** Status of the reply; 0 if there was none. */
  readonly status: number;
  readonly code: string;
  readonly remedy: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    {
      code,
      message,
      remedy,
      details = {},
    }: Pick<ApiFailure, "code" | "message" | "remedy"> & Partial<Pick<ApiFailure, "details">>,
  ) {
    super(message);
    this.name = "ApiFailure";
    this.status = status;
    this.code = code;
    this.remedy = remedy;
    this.details = details;
  }
}

/** The failure for a reply that is not a success. */
export async function readFailure(response: Response): Promise<ApiFailure> {
  const body = (await response.json().catch(() => undefined)) as { error?: Partial<ApiFailure> } | undefined;
  const error = body?.error;
  return new ApiFailure(response.status, {
    code: error?.code ?? "UNEXPECTED",
    message: error?.message ?? `The gateway replied with status ${response.status}.`,
    remedy: error?.remedy ?? "See the gateway's log.",
    ...(error?.details && { details: error.details }),
  });
}

/** Turns anything that was thrown into a failure; an aborted request is not a failure and is rethrown. */
export function toFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  if (error instanceof DOMException && error.name === "AbortError") throw error;
  if (error instanceof TypeError)
    return new ApiFailure(0, {
      code: "UNREACHABLE",
      message: "The gateway does not respond.",
      remedy: "Start it with longhaul serve, or check the connection.",
    });
  return new ApiFailure(0, {
    code: "UNEXPECTED",
    message: error instanceof Error ? error.message : String(error),
    remedy: "Reload the page.",
  });
}
