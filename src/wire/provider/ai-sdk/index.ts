export { type AiSdkModel, type AiSdkOptions, aiSdkProvider } from "./ai-sdk-provider.ts";
export type { Configuration, ProviderSettings } from "./provider-settings.ts";
