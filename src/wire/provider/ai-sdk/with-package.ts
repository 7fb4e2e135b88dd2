import { LonghaulError } from "../../../model/errors.ts";

/**
 * Runs code that needs an optional package; throws PROVIDER_UNCONFIGURED with the package to install if it is missing.
 */
export async function withPackage<T>(name: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    if (!isMissing(error)) throw error;
    const missing = missingName(error) ?? name;
    throw new LonghaulError(
      "PROVIDER_UNCONFIGURED",
      `The package ${missing} is missing; run npm install ${missing}.`,
      {
        cause: error,
        details: { package: missing },
      },
    );
  }
}

function isMissing(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}

/** The missing package may be a dependency of the named one. */
function missingName({ message }: Error): string | undefined {
  return /^Cannot find package '([^']+)'/.exec(message)?.[1];
}
