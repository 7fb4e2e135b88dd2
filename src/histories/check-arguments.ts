import { type Kernel, LonghaulError } from "../kernel/index.ts";
import type { System } from "./port/format.ts";

/** Throws ARGUMENT_INVALID unless `kernel` is a kernel. */
export function checkKernel(kernel: Kernel): void {
  if (typeof kernel?.find !== "function" || typeof kernel.session !== "function")
    throw createArgumentError("kernel", "what openKernel() returns");
}

/** Throws ARGUMENT_INVALID unless all paths are non-empty strings without NUL. */
export function checkPaths(paths: readonly string[]): void {
  if (!Array.isArray(paths)) throw createArgumentError("paths", "an array of paths");
  for (const [index, path] of paths.entries())
    if (typeof path !== "string" || path === "" || path.includes("\0"))
      throw createArgumentError(`paths[${index}]`, "a path");
}

/** Throws ARGUMENT_INVALID unless `value` is an object with these functions. */
export function checkObject(option: string, value: unknown, ...functions: readonly string[]): void {
  if (typeof value !== "object" || value === null) throw createArgumentError(option, "an object");
  for (const name of functions)
    if (typeof (value as Readonly<Record<string, unknown>>)[name] !== "function")
      throw createArgumentError(`${option}.${name}`, "a function");
}

/** Throws ARGUMENT_INVALID unless the import options are valid. */
export function checkImportOptions(options: {
  readonly formats?: readonly unknown[];
  readonly since?: number;
  readonly signal?: AbortSignal;
}): void {
  checkObject("options", options);
  const { formats, since, signal } = options;
  if (formats !== undefined) checkFormats(formats);
  if (since !== undefined && !Number.isFinite(since))
    throw createArgumentError("since", "a time in milliseconds");
  checkSignal(signal);
}

/** Throws ARGUMENT_INVALID unless `system` describes a computer and its user. */
export function checkSystem(system: System): void {
  checkObject("system", system);
  if (typeof system.home !== "string") throw createArgumentError("system.home", "a folder");
  if (typeof system.platform !== "string")
    throw createArgumentError("system.platform", "the name of a platform");
  checkObject("system.env", system.env);
}

/** Throws ARGUMENT_INVALID unless `formats` are formats. */
export function checkFormats(formats: readonly unknown[]): void {
  if (!Array.isArray(formats)) throw createArgumentError("formats", "an array of formats");
  for (const [index, format] of formats.entries()) checkObject(`formats[${index}]`, format, "detect", "read");
}

/** Throws ARGUMENT_INVALID unless `signal` is an AbortSignal or undefined. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw createArgumentError("signal", "an AbortSignal");
}

function createArgumentError(option: string, expected: string): LonghaulError {
  return new LonghaulError("ARGUMENT_INVALID", `${option} cannot be used; expected ${expected}.`, {
    details: { option },
  });
}
