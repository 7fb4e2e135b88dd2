import type { PageRoute } from "../../shell/page-route.ts";

export const route: PageRoute = {
  paths: ["/connect"],
  label: { en: "Connect", zh: "连接" },
  navigation: { order: 6, key: "c" },
  load: () => import("./page.tsx"),
};
