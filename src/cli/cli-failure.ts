import { isLonghaulError } from "../kernel/index.ts";
import { EXIT } from "./exit-code.ts";
import { escapeText, toSafeJson } from "./terminal/escape.ts";
import { UsageError } from "./usage-error.ts";

/** A failure as text for people, JSON for programs and an exit code. */
interface CliFailure {
  readonly message: string;
  readonly json: string;
  readonly exitCode: number;
}

/**
 * Describes a failure of a command, or of the program before a command is known. Unknown errors are bugs of ours and
 * come with their stack.
 */
export function describeFailure(error: unknown, command: string | undefined): CliFailure {
  if (error instanceof UsageError) {
    const end = error.message.endsWith("?") ? "" : ".";
    const help = command === undefined ? "longhaul help" : `longhaul help ${command}`;
    return buildFailure(`${error.message}${end} See "${help}".`, "USAGE", {}, EXIT.usage);
  }
  if (isLonghaulError(error)) {
    const exitCode = error.code === "ARGUMENT_INVALID" ? EXIT.usage : EXIT.failed;
    return buildFailure(error.message, error.code, error.details, exitCode);
  }
  const { code, message, stack }: NodeJS.ErrnoException =
    error instanceof Error ? error : new Error(String(error));
  return code === undefined
    ? buildFailure(`${stack ?? message}`, "UNEXPECTED", {}, EXIT.failed)
    : buildFailure(message, code, {}, EXIT.failed);
}

function buildFailure(message: string, code: string, details: object, exitCode: number): CliFailure {
  return {
    message: `longhaul: ${escapeText(message)}\n`,
    json: `${toSafeJson({ error: { code, message, details } })}\n`,
    exitCode,
  };
}
