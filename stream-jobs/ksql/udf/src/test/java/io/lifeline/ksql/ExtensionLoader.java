package io.lifeline.ksql;

import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/** Loads classes as ksqlDB does for an extension jar: from the jar first, except ksqlDB's own and Kafka's. */
final class ExtensionLoader extends URLClassLoader {

  ExtensionLoader(Path jar) throws MalformedURLException {
    super(new URL[] {jar.toUri().toURL()}, ExtensionLoader.class.getClassLoader());
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      if (loaded == null && !name.startsWith("io.confluent") && !name.startsWith("org.apache.kafka")) {
        try {
          loaded = findClass(name);
        } catch (ClassNotFoundException e) {
          loaded = null; // only the parent may have it
        }
      }
      return loaded != null ? loaded : super.loadClass(name, resolve);
    }
  }
}
