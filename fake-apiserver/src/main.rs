//! Placeholder until the command line lands.
#[tokio::main]
async fn main() {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let server = fake_apiserver::FakeApiServer::builder().secure_port(6443).static_token("tok", "alice", &["devs"]).start().await.unwrap();
    server.write_kubeconfig(std::path::Path::new("/tmp/kc")).unwrap();
    println!("{}", server.url());
    tokio::signal::ctrl_c().await.unwrap();
    server.shutdown().await;
}
