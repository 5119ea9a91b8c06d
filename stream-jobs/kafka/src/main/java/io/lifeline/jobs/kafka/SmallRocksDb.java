package io.lifeline.jobs.kafka;

import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Cache;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBufferManager;

/**
 * Limits the total memory of all on-disk stores in this process. By default each partition's store may take a hundred
 * megabytes, for values that are rarely read.
 */
public final class SmallRocksDb implements RocksDBConfigSetter {

  private static final long BYTES = 32L << 20;
  private static final long WRITE_BYTES = 16L << 20;
  private static final long WRITE_BUFFER_BYTES = 1L << 20;

  /** Created once and never closed. */
  private static final class Memory {
    static final Cache CACHE;
    static final WriteBufferManager BUFFERS;

    static {
      RocksDB.loadLibrary();
      CACHE = new LRUCache(BYTES);
      BUFFERS = new WriteBufferManager(WRITE_BYTES, CACHE);
    }
  }

  @Override
  public void setConfig(String store, Options options, Map<String, Object> configs) {
    BlockBasedTableConfig table = (BlockBasedTableConfig) options.tableFormatConfig();
    table.setBlockCache(Memory.CACHE);
    table.setCacheIndexAndFilterBlocks(true);
    options.setTableFormatConfig(table);
    options.setWriteBufferManager(Memory.BUFFERS);
    options.setWriteBufferSize(WRITE_BUFFER_BYTES);
  }

  @Override
  public void close(String store, Options options) {
    // The shared cache outlives each store.
  }
}
