import type { PageRoute } from "../../shell/page-route.ts";

export const route: PageRoute = {
  paths: ["/"],
  label: { en: "Overview", zh: "概览" },
  navigation: { order: 1, key: "o" },
  load: () => import("./page.tsx"),
};
