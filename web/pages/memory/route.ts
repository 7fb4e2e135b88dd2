import type { PageRoute } from "../../shell/page-route.ts";

export const route: PageRoute = {
  paths: ["/memory", "/memory/:view"],
  label: { en: "Memory", zh: "记忆" },
  navigation: { order: 3, key: "m" },
  load: () => import("./page.tsx"),
};
