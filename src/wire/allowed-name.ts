/** Makes a tool's name valid for providers. */
export function toAllowedName(name: string): string {
  return /^[\w-]{1,128}$/.test(name) ? name : name.replace(/[^\w-]/g, "_").slice(0, 128) || "tool";
}
