import type { PageRoute } from "../../shell/page-route.ts";

export const route: PageRoute = {
  paths: ["/people"],
  label: { en: "People", zh: "成员" },
  navigation: { order: 7, key: "p" },
  load: () => import("./page.tsx"),
};
