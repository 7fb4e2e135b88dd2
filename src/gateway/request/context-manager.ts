import type { UpstreamConfig } from "../config/config.ts";

/** Decides who carries out Anthropic's `context_management`. */
export function getContextManager({ contextManagement, baseUrl }: UpstreamConfig): "upstream" | "gateway" {
  if (contextManagement) return contextManagement;
  return /^https:\/\/api\.anthropic\.com(?:[:/]|$)/i.test(baseUrl) ? "upstream" : "gateway";
}
