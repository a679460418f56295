// Plays the story with the client that OpenAPI Generator generates. Prints what it has read as JSON.

import com.fasterxml.jackson.module.kotlin.jacksonObjectMapper
import okhttp3.OkHttpClient
import org.example.api.apis.AccountApi
import org.example.api.apis.MoneyApi
import org.example.api.apis.OperationsApi
import org.example.api.apis.QuotesApi
import org.example.api.infrastructure.ClientError
import org.example.api.infrastructure.ClientException
import org.example.api.models.Method
import org.example.api.models.Pair
import org.example.api.models.QuoteRequest
import org.example.api.models.TopupRequest

fun main() {
    val baseUrl = System.getenv("BASE_URL")
    val signed = OkHttpClient.Builder().addInterceptor { chain ->
        chain.proceed(chain.request().newBuilder().header("Authorization", System.getenv("SESSION")).build())
    }.build()
    val money = MoneyApi(baseUrl, signed)
    val account = AccountApi(baseUrl, signed)

    val config = OperationsApi(baseUrl).getConfig()
    val quote = QuotesApi(baseUrl).postQuote(QuoteRequest(Pair.USDSlashIDR))
    val me = account.getMe()
    val order = TopupRequest("500000", Method.qr, quote.id)
    val checkout = money.postTopups(order)
    val item = account.getMeActivityById(checkout.paymentId)
    val refused = try {
        money.postTopups(order.copy(amount = "600000"))
        throw IllegalStateException("a quote was used twice")
    } catch (exception: ClientException) {
        exception.response as ClientError<*>
    }

    val json = jacksonObjectMapper()
    println(
        json.writeValueAsString(
            mapOf(
                "chainId" to config.chain.chainId,
                "rate" to quote.rate,
                "wallet" to me.wallet,
                "cycle" to me.cycle,
                "paymentId" to checkout.paymentId,
                "status" to item.status.value,
                "inFlight" to item.inFlight,
                "refused" to listOf(
                    refused.statusCode,
                    refused.headers["x-error-code"]?.first(),
                    json.readTree(refused.body as String)["error"].asText(),
                ),
            ),
        ),
    )
}
