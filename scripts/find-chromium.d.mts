export const CHROMIUM_FLAGS: string[];
export const CHROMIUM_REMEDY: string;
export function findChromium(env?: NodeJS.ProcessEnv): string | undefined;
