import { LonghaulError } from "../../model/errors.ts";

/** Does what needs an optional package, or says which one to install. */
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

/** It may be one that the package itself needs. */
function missingName({ message }: Error): string | undefined {
  return /^Cannot find package '([^']+)'/.exec(message)?.[1];
}
