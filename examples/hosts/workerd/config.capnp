using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = .animals)],
  sockets = [(name = "http", address = "127.0.0.1:8080", http = (), service = "main")],
);

const animals :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "build/worker.js")],
  bindings = [(name = "API_KEY", fromEnvironment = "API_KEY")],
  compatibilityDate = "2026-11-01",
);
