// A loader of a training program: workers read small files by URLs in the given order, over kept connections.
// In Go, because a client in Node would take more of the processor than the servers that it measures.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	workers, _ := strconv.Atoi(os.Args[2])
	list, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	urls := make(chan string, 1024)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers, DisableCompression: true}}
	var bytes atomic.Int64
	var files atomic.Int64
	var done sync.WaitGroup
	began := time.Now()
	for range workers {
		done.Add(1)
		go func() {
			defer done.Done()
			for url := range urls {
				answer, err := client.Get(url)
				if err != nil {
					panic(err)
				}
				count, err := io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				if err != nil || answer.StatusCode != 200 {
					panic(fmt.Sprint(url, answer.Status, err))
				}
				bytes.Add(count)
				files.Add(1)
			}
		}()
	}
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		urls <- lines.Text()
	}
	close(urls)
	done.Wait()
	fmt.Printf("{\"seconds\":%f,\"files\":%d,\"bytes\":%d}\n", time.Since(began).Seconds(), files.Load(), bytes.Load())
}
