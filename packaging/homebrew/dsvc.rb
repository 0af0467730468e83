# brew install --build-from-source packaging/homebrew/dsvc.rb after make dist.
class Dsvc < Formula
  desc "Move data preparation onto workers, from the shell"
  url "file://#{Pathname(__dir__).parent.parent}/build/dsvc-0.1.0.tar.gz"
  version "0.1.0"
  license "MIT"

  depends_on "pkgconf" => :build # pkg-config
  depends_on "czmq" # libczmq-dev
  depends_on "curl" # libcurl4-openssl-dev
  depends_on "isa-l" # libisal-dev
  depends_on "jpeg-turbo" # libjpeg62-turbo-dev
  depends_on "libarchive" # libarchive-dev
  depends_on "libmicrohttpd" # libmicrohttpd-dev
  depends_on "libpng" # libpng-dev
  depends_on "libsodium" # libsodium-dev
  depends_on "libxml2" # libxml2-dev
  # epoll, openat2, memfd_create, signalfd: it does not build on macOS.
  depends_on :linux
  depends_on "msgpack" # libmsgpack-dev
  depends_on "nettle" # nettle-dev
  depends_on "pcre2" # libpcre2-dev
  depends_on "simdjson" # libsimdjson-dev
  depends_on "snappy" # libsnappy-dev
  depends_on "sqlite" # libsqlite3-dev
  depends_on "webp" # libwebp-dev
  depends_on "zeromq" # libzmq3-dev

  def install
    # Loaded late by their names, and nowhere on the loader's usual path.
    late = %w[curl czmq jpeg-turbo libpng libxml2 webp].map { |f| "-Wl,-rpath,#{Formula[f].opt_lib}" }
    # Without the plugin for Parquet, which wants one version of Arrow.
    system "make", "install", "ARROW=no", "prefix=#{prefix}", "pythondir=#{pkgshare}/python",
           "unitdir=#{pkgshare}/systemd", "sysusersdir=#{pkgshare}/systemd", "tmpfilesdir=#{pkgshare}/tmpfiles",
           "LDFLAGS=#{late.join(" ")}"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/dsvc --version")
    assert_equal "1000", shell_output("#{bin}/dsvc run -t count 'range 1000'").strip
    ENV["XDG_RUNTIME_DIR"] = testpath
    system bin/"dsvc-up", "--quiet", "--workers", "2"
    assert_equal "1000", shell_output("#{bin}/dsvc-read --quiet -t count -e 'range 1000'").strip
    system bin/"dsvc-stop", "--quiet"
  end
end
